import '@backstage/cli/asset-types';
import ReactDOM from 'react-dom/client';
import '@backstage/ui/css/styles.css';
import './contrast.css';
import './narrow.css';
import App from './App';
import { fetchChunksEarly } from './chunks';

try {
  fetchChunksEarly();
} catch {
  // such as where nothing may be kept; they are fetched as they are asked for
}
ReactDOM.createRoot(document.getElementById('root')!).render(App.createRoot());
